// Runs a fuzz target over its corpus and over mutations of it, the same ones in every run.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool passes(const std::string& input) {
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\nwith the input ", error.what());
    for (const char c : input) std::fprintf(stderr, "\\x%02x", static_cast<unsigned char>(c));
    std::fputc('\n', stderr);
    return false;
  }
}

std::vector<std::string> read_corpus(const char* directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const auto& file : files) {
    std::ifstream in{file, std::ios::binary};
    corpus.emplace_back(std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{});
  }
  return corpus;
}

/// One to four small changes.
std::string mutate(std::string input, const std::vector<std::string>& corpus,
                   std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(input.size() + 1);
    const auto byte = static_cast<char>(random());
    const std::string& other = corpus[below(corpus.size())];
    const std::string piece = other.substr(below(other.size() + 1), below(16));
    switch (below(5)) {
      case 0:
        input.insert(at, 1, byte);
        break;
      case 1:
        input.erase(at, 1 + below(8));
        break;
      case 2:
        if (at < input.size()) input[at] = byte;
        break;
      case 3:
        input.insert(at, piece);
        break;
      default:
        input.replace(at, piece.size(), piece);
        break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> corpus = read_corpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s holds no files\n", argv[1]);
    return 2;
  }
  for (const std::string& input : corpus) {
    if (!passes(input)) return 1;
  }
  constexpr int kMutations = 20'000;
  std::mt19937_64 random{1};  // NOLINT(cert-msc51-cpp): the same in every run is the point
  for (int i = 0; i < kMutations; ++i) {
    if (!passes(mutate(corpus[random() % corpus.size()], corpus, random))) return 1;
  }
  return 0;
}
