"""The back end of the code generator: reads the model (JSON) and renders generated/."""
