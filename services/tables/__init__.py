"""What the gateway shows of tables: views folded, and put into the answers that it declares.

Start with `built_in_catalog` (the gateway's port), then `table_fold` (a view folded), `table_answers` (the answers), and
`board_drawing` (where everything on a board is drawn).
"""
