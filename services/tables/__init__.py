"""Tables as the gateway shows them. Start with `built_in_catalog` (the gateway's port), then `table_fold` (a view folded),
`table_answers` (the fold as answers), and `board_drawing` (the places of everything on a board)."""
