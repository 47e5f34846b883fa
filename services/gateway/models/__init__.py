"""Requests and answers as contracts, and the OpenAPI document made of them."""
