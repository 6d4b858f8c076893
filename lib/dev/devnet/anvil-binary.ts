import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { accessSync, chmodSync, constants } from "node:fs";

const require = createRequire(import.meta.url);

const ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, string>>> = {
  x64: "amd64",
  arm64: "arm64",
};
const PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: "linux",
  darwin: "darwin",
};

/**
 * Path of the anvil binary from the npm package of this platform. The wrapper script of
 * `@foundry-rs/anvil` is not used: it is an extra process, and a SIGKILL of it would leave the
 * chain running.
 * @throws Error naming the missing package
 */
export const anvilBinary = (): string => {
  const platform = PLATFORMS[process.platform];
  const architecture = ARCHITECTURES[process.arch];
  if (!platform || !architecture)
    throw new Error(
      `There is no anvil for ${process.platform} on ${process.arch}; run it on Linux or macOS.`,
    );
  const name = `@foundry-rs/anvil-${platform}-${architecture}`;
  // The platform package is a dependency of the wrapper, so it may be nested below it.
  const fromWrapper = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
  let home: string;
  try {
    home = dirname(fromWrapper.resolve(`${name}/package.json`));
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed; run "npm install --include=optional".`,
      {
        cause,
      },
    );
  }
  const binary = join(home, "bin", "anvil");
  makeExecutable(binary);
  return binary;
};

// Some ways to unpack a package lose the executable bit.
const makeExecutable = (binary: string): void => {
  try {
    accessSync(binary, constants.X_OK);
  } catch {
    chmodSync(binary, 0o755);
  }
};
