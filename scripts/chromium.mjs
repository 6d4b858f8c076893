// Finds a Chromium for the browser tests, or installs one.
import { accessSync, constants } from "node:fs";
import { INSTALL_TIMEOUT_MS, installOneOf } from "./debian.mjs";
import { bin, run } from "./project.mjs";

/**
 * The preferred browser: a build without a window, which needs half of the time of a full browser
 * on two cores.
 */
const HEADLESS_SHELL = "/usr/bin/chromium-headless-shell";
const INSTALLED = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/snap/bin/chromium",
];
/** Debian packages, the preferred one first. Older Debian releases have only the full browser. */
const DEBIAN_PACKAGES = ["chromium-headless-shell", "chromium"];

/** Whether the browser exists and starts. A browser whose libraries are missing does not start. */
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
  firstWorking([
    process.env.CHROMIUM_PATH,
    HEADLESS_SHELL,
    await playwrightsOwn(),
    ...INSTALLED,
  ]);

/**
 * Finds a Chromium that starts: the browser of CHROMIUM_PATH, the headless shell of Debian,
 * Playwright's browser, or another browser of the system. Otherwise installs one.
 * @returns {Promise<string | null>} its path; null when none was found or installed
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
