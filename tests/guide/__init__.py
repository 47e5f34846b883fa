"""The pages for readers: their links lead somewhere, their blocks run, and a newcomer's questions are near."""
