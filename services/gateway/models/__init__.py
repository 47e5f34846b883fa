"""What is asked and what is answered, as contracts, and the OpenAPI document made of them."""
