// Writes the model as the JSON document that MODEL.md describes.
#pragma once

#include <codegen/frontend/Model.h>

#include <string>

namespace oploom::frontend {

std::string model_to_json(const Model& model);

}  // namespace oploom::frontend
