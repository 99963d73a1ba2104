"""Selvedge for BenchExec: a tool-info module for `benchexec --tool-directory` and competitions."""

from benchexec import result
from benchexec.tools.template import BaseTool2


class Tool(BaseTool2):
    """Runs `selvedge check` on the program of a task and reads its exit code."""

    REQUIRED_PATHS = ["selvedge"]

    def name(self):
        return "Selvedge"

    def project_url(self):
        return "https://crates.io/crates/selvedge"

    def executable(self, tool_locator):
        return tool_locator.find_executable("selvedge")

    def version(self, executable):
        return self._version_from_tool(executable, arg="--version")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", *options, "--quiet"]
        if task.property_file:
            command += ["--property", task.property_file]
        if isinstance(task.options, dict) and task.options.get("data_model"):
            command += ["--data-model", task.options["data_model"].lower()]
        if rlimits.memory:
            command += ["--memory-limit", f"{rlimits.memory * 9 // 10 // 1_000_000}MB"]
        return command + [task.single_input_file]

    def determine_result(self, run):
        if run.was_timeout:
            return "TIMEOUT"
        code = run.exit_code.value
        if code == 0:
            return result.RESULT_TRUE_PROP
        if code == 10:
            return result.RESULT_FALSE_PROP
        if code in (11, 12):
            return "TIMEOUT" if code == 11 else "OUT OF MEMORY"
        return result.RESULT_UNKNOWN if code == 5 else result.RESULT_ERROR
