// Installs the Debian packages that tests use, where this process has the right to do so.
import { run } from "./project.mjs";

export const INSTALL_TIMEOUT_MS = 300_000;

const succeeds = async (command, args) => {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const { code } = await run(command, args, {
    quiet: true,
    timeoutMs: INSTALL_TIMEOUT_MS,
    env,
  });
  return code === 0;
};

/**
 * Installs the first package of the list that can be installed.
 * @returns {Promise<boolean>} false when none can be, for instance because the process is not root
 * or the system has no apt-get
 */
export const installOneOf = async (packages, say) => {
  if (process.getuid?.() !== 0 || !(await succeeds("apt-get", ["--version"]))) return false;
  await succeeds("apt-get", ["update"]);
  for (const name of packages) {
    say(`Trying Debian's package (apt-get install ${name}) …`);
    if (await succeeds("apt-get", ["install", "-y", "--no-install-recommends", name]))
      return true;
  }
  return false;
};
