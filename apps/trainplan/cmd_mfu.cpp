#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/render/render.hpp"
#include "trainplan/report/mfu_report.hpp"

namespace trainplan {

namespace {

struct MfuOptions {
  RunOptions run;
  std::string step, rate, gpu_rate, peak;
  bool detail = false;
  OutputOptions output;
};

/// A positive quantity of an option; nothing when it was not given or is wrong.
std::optional<double> positive_option(const char* option, const std::string& text, Dim dim,
                                      const char* example, Issues& issues) {
  if (text.empty()) return std::nullopt;
  const Measure m = parse_quantity(text, dim);
  if (m && m.value > 0) return m.value;
  issues.add({.rule = "quantity",
              .pointer = option,
              .got = text,
              .must = "be " + example_of(dim) + (m ? ", above zero" : "; this " + m.error),
              .hint = std::string("try ") + example});
  return std::nullopt;
}

/// A rate as people log it: a bare number is tokens per second.
std::optional<double> rate_option(const char* option, const std::string& text, Issues& issues) {
  const bool bare = !text.empty() && static_cast<bool>(parse_quantity(text, kTokens));
  return positive_option(option, bare ? text + " tokens/s" : text, kTokens - kSeconds, "900000", issues);
}

/// One of --step, --tokens-per-second and --tokens-per-second-per-gpu; a rate of one GPU is not yet that of
/// all.
MfuQuestion read_options(const MfuOptions& options, Issues& issues) {
  MfuQuestion out;
  const int given = !options.step.empty() + !options.rate.empty() + !options.gpu_rate.empty();
  if (given > 1)
    issues.add({.rule = "usage",
                .pointer = "--step",
                .got = std::to_string(given) + " measurements",
                .must = "be the only one: --step, --tokens-per-second or --tokens-per-second-per-gpu",
                .hint = "leave the others out"});
  out.step = positive_option("--step", options.step, kSeconds, "4.5s", issues);
  out.rate = options.gpu_rate.empty() ? rate_option("--tokens-per-second", options.rate, issues)
                                      : rate_option("--tokens-per-second-per-gpu", options.gpu_rate, issues);
  out.origin = out.step                   ? "option --step"
               : options.gpu_rate.empty() ? "option --tokens-per-second"
                                          : "option --tokens-per-second-per-gpu x GPUs";
  out.peak = positive_option("--peak", options.peak, kFlops - kSeconds, "989TFLOP/s", issues);
  return out;
}

/// What the run knows: its measured step where no option gives one, and its number of GPUs.
void complete(MfuQuestion& question, const MfuOptions& options, const Question& q, Issues& issues) {
  if (question.rate && !options.gpu_rate.empty())
    *question.rate *= static_cast<double>(q.planner().problem().cluster().gpus());
  if (!options.step.empty() || !options.rate.empty() || !options.gpu_rate.empty()) return;
  if (const auto& logged = q.run.gap.measured) {
    question.step = logged->value;
    question.origin = q.run.origin + " /gap/measured";
    return;
  }
  issues.add({.rule = "missing",
              .pointer = "--step",
              .must = "be given, or --tokens-per-second or --tokens-per-second-per-gpu",
              .hint = "try --step 4.5s"});
}

/// Twice the dense peak is the one with 2:4 sparsity, which no dense product reaches.
void refuse_sparse_peak(const MfuOptions& options, const MfuQuestion& question, const Figure& dense,
                        Issues& issues) {
  if (!question.peak || !is_doubled(*question.peak, dense.value)) return;
  const std::string text = number_text(dense.value, kFlops - kSeconds);
  issues.add(
      {.rule = "sparse-peak",
       .pointer = "--peak",
       .got = options.peak,
       .must = "be a dense peak: that of this GPU is " + text + ", twice that is the one with 2:4 sparsity",
       .hint = "leave it out, or try --peak \"" + text + "\""});
}

/// A peak that is none of this GPU's is most likely one of another, or has another prefix.
void doubt_peak(const MfuOptions& options, const MfuQuestion& question, const Accelerator& gpu,
                Issues& issues) {
  constexpr double kNear = 0.1;
  if (!question.peak) return;
  for (const Figure* f : {&gpu.bf16_dense, &gpu.fp8_dense, &gpu.fp4_dense})
    if (f->known && std::abs(*question.peak / f->value - 1) <= kNear) return;
  const std::string text = number_text(gpu.bf16_dense.value, kFlops - kSeconds);
  issues.add({.level = Severity::Warning,
              .rule = "peak-of-the-gpu",
              .pointer = "--peak",
              .got = options.peak,
              .must = "be a dense peak of " + gpu.name + "; with 16 bits it is " + text,
              .hint = "leave it out, or check its unit"});
}

/// A rate of one GPU given as that of the cluster makes an MFU that no run has.
void doubt_rate(const MfuOptions& options, const MfuCost<double>& cost, double gpus, double problem,
                Issues& issues) {
  const double mfu = cost.causal.mfu.num(), of_one = mfu * gpus;
  if (options.rate.empty() || mfu >= problem / 10 || of_one > 1 || of_one < problem / 10) return;
  issues.add({.level = Severity::Warning,
              .rule = "rate-of-one-gpu",
              .pointer = "--tokens-per-second",
              .got = options.rate,
              .must = "be the rate of the whole cluster; as that of one GPU it is possible",
              .hint = "try --tokens-per-second-per-gpu " + options.rate});
}

/// Nobody is faster than the peak; the usual reason is a rate of one GPU or of all in place of the other.
void refuse_beyond_peak(const MfuOptions& options, const MfuCost<double>& cost, Issues& issues) {
  if (cost.causal.mfu.num() <= 1) return;
  const bool step = options.rate.empty() && options.gpu_rate.empty();
  const char* option = step                   ? "--step"
                       : options.rate.empty() ? "--tokens-per-second-per-gpu"
                                              : "--tokens-per-second";
  const std::string least = number_text(cost.causal.ideal.num(), kSeconds);
  issues.add({.rule = "faster-than-peak",
              .pointer = option,
              .got = step                   ? options.step
                     : options.rate.empty() ? options.gpu_rate
                                            : options.rate,
              .must = "make a step of at least " + least + ", the ideal at the dense peak of every GPU",
              .hint = step ? "give seconds of one optimizer step of the whole batch; see --global-batch"
                           : "is it the rate of one GPU or of the whole cluster?"});
}

int run_mfu(MfuOptions& options) {
  Issues issues;
  if (!words_name_a_run("mfu", options.run.words, issues)) return emit(issues, options.output);
  take_convention(options.run, false, issues);
  MfuQuestion question = read_options(options, issues);
  const auto q = Question::open(options.run.words, options.run, issues);
  if (!q) return emit(issues, options.output);
  const Problem& problem = q->planner().problem();
  complete(question, options, *q, issues);
  refuse_sparse_peak(options, question, problem.cluster().accelerator.bf16_dense, issues);
  if (issues.has_errors()) return emit(issues, options.output);
  const std::vector<Anchor> figures = anchors();
  const Figure& good = published(figures, "mfu_good").value;
  Eval plain;
  const auto figured = mfu_cost(plain, problem, question, good);
  refuse_beyond_peak(options, figured, issues);
  doubt_peak(options, question, problem.cluster().accelerator, issues);
  doubt_rate(options, figured, static_cast<double>(problem.cluster().gpus()),
             published(figures, "mfu_problem").value.value, issues);
  const int status = emit(issues, options.output);
  if (issues.has_errors()) return status;
  Explain rec;
  const auto cost = mfu_cost(rec, problem, question, good);
  return emit(
      mfu_report(problem, q->settings(), question, cost, rec.ledger(), figures, issues.all(), options.detail),
      options.output);
}

}  // namespace

void add_mfu(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<MfuOptions>();
  CLI::App* command =
      app.add_subcommand("mfu", "MFU and HFU of a measured step or rate, and whether that is good");
  add_run_options(*command, options->run, "MODEL CLUSTER, or one RUN file",
                  {"sequence", "global_batch", "mtp", "attention", "flop_convention", "tokens"});
  command->get_option("--attention")
      ->description("causal or full: how attention FLOPs are counted, as --flop-convention");
  command->add_option("--step", options->step, "measured step, such as 4.5s")->type_name("TIME");
  command->add_option("--tokens-per-second", options->rate, "measured rate of the whole cluster")
      ->type_name("N");
  command->add_option("--tokens-per-second-per-gpu", options->gpu_rate, "measured rate of one GPU")
      ->type_name("N");
  command
      ->add_option("--peak", options->peak,
                   "dense peak of one GPU, such as 989TFLOP/s (default: of the cluster, bf16)")
      ->type_name("RATE");
  command->add_flag("--detail", options->detail, "every figure with its formula and inputs");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_mfu(*options); });
}

}  // namespace trainplan
