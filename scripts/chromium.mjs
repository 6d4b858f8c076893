// Finds a Chromium for the browser tests, or gets one.
import { accessSync, constants } from "node:fs";
import { INSTALL_TIMEOUT_MS, installOneOf } from "./debian.mjs";
import { bin, run } from "./project.mjs";

/** Preferred: the build without a window, which takes half of the time of a whole browser on two cores. */
const HEADLESS_SHELL = "/usr/bin/chromium-headless-shell";
const INSTALLED = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];
/** Of Debian, in the order of preference: older releases have only the whole browser. */
const DEBIAN_PACKAGES = ["chromium-headless-shell", "chromium"];

/** Whether the browser exists and starts; without its libraries it does not start. */
const works = async (path) => {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    return false;
  }
  return (await run(path, ["--version"], { quiet: true, timeoutMs: 20_000 })).code === 0;
};

const playwrightsOwn = async () => {
  const { chromium } = await import("@playwright/test");
  return chromium.executablePath();
};

const firstWorking = async (paths) => {
  for (const path of paths) if (path && (await works(path))) return path;
  return null;
};

const find = async () =>
  firstWorking([process.env.CHROMIUM_PATH, HEADLESS_SHELL, await playwrightsOwn(), ...INSTALLED]);

/**
 * Path of a Chromium that starts: the one of CHROMIUM_PATH, Playwright's, the system's, or one that is installed now.
 * @returns {Promise<string | null>} null when none can be found or installed
 */
export const findChromium = async (say) => {
  const found = await find();
  if (found) return found;
  say("No Chromium is installed; trying Playwright's download …");
  const { code } = await run(bin("playwright"), ["install", "chromium"], {
    quiet: true,
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  const downloaded = code === 0 ? await find() : null;
  if (downloaded !== null) return downloaded;
  await installOneOf(DEBIAN_PACKAGES, say);
  return find();
};

export const NO_CHROMIUM =
  "No Chromium was found and none could be installed. Install one (Debian: `sudo apt-get install chromium`, or " +
  "`npx playwright install --with-deps chromium`), or name it in CHROMIUM_PATH. Then run this again.";
