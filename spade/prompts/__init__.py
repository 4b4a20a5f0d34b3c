"""The texts of the prompts, as Jinja2 templates; `spade.prompting` renders them."""
