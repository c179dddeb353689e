#pragma once

/// Enough of CLI11 to pass its objects around.
namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
class Option;
class ParseError;
}  // namespace CLI
