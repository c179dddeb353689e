#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "errand/envelope.hpp"
#include "errand/errors.hpp"
#include "errand/export.hpp"
#include "errand/transport.hpp"

namespace errand::detail {

/// A message whose sender and we do not understand each other; what() says why. Trying again does
/// not help.
class ERRAND_EXPORT UnreadableMessage : public Error {
 public:
  using Error::Error;
};

/// Symfony's JSON form of messages: the header `type` is a PHP class, the body its properties, and
/// each class of stamps has a header. All headers but `type` and `Content-Type` become those of the
/// envelope, and the other way round.
class ERRAND_EXPORT SymfonySerializer {
 public:
  /// Messages of `type` are called `class_name` on the wire. What is not named here is called the
  /// same on both sides. Throws ConfigurationException if one of them has another partner.
  void add(const std::string& type, const std::string& class_name);

  /// Throws UnreadableMessage.
  [[nodiscard]] Envelope read(const WireMessage& message) const;

  [[nodiscard]] WireMessage write(const Envelope& envelope) const;

  /// What the class is called here.
  [[nodiscard]] std::string type_for(std::string_view class_name) const;

  /// What messages of `type` are called: so first, then by the other side's name or the one here,
  /// whichever `type` is not, if they have two.
  [[nodiscard]] std::vector<std::string> names_of(const std::string& type) const;

  /// For people: also of messages that read() refuses, those in PHP's own serialization included;
  /// empty if nothing can be said.
  [[nodiscard]] std::string type_of(const WireMessage& message) const;

 private:
  using Names = std::map<std::string, std::string, std::less<>>;

  Names types_;    ///< by class
  Names classes_;  ///< by type
};

}  // namespace errand::detail
