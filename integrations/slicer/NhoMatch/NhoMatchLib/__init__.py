"""What the module does, without its panel."""
