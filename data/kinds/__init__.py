"""The kinds of datasets that leave the factory: for each, which rows it has and how its consumer reads them."""
