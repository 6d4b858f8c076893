// `node scripts/compile-contracts.mjs`: compiles the project's contracts. The output is committed,
// so that the start and a deployment need no compiler. With `--check` the script writes nothing,
// and fails when a committed file differs from the compiled source.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import solc from "solc";
import { getContractAddress, zeroHash } from "viem";

/**
 * Folders of contracts, and the EVM version for which each is compiled. The paymaster needs
 * transient storage (Cancun). The tokens of the local chains stay on Paris, because another EVM
 * version would change their code and so their addresses.
 */
const FOLDERS = [
  { path: "lib/dev/devnet/solidity", evmVersion: "paris" },
  { path: "lib/chain/solidity", evmVersion: "cancun" },
  { path: "lib/dev/testing/solidity", evmVersion: "cancun" },
  {
    path: "lib/dev/devnet/solidity/privacy",
    evmVersion: "cancun",
    // The hash functions are deployed as separate libraries: inlined, they would make the pools
    // larger than the limit of code size.
    libraries: {
      PoseidonT3: "poseidon-solidity/PoseidonT3.sol",
      PoseidonT4: "poseidon-solidity/PoseidonT4.sol",
    },
    generated: () => ({ "Keys.sol": verificationKeys() }),
  },
];
const isCheck = process.argv.includes("--check");
const root = new URL("..", import.meta.url).pathname;
const require = createRequire(import.meta.url);
const CREATE2_DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

const word = (text) => BigInt(text).toString(16).padStart(64, "0");
const point = ([x, y]) => word(x) + word(y);
// The pairing precompile expects the imaginary part first.
const twistPoint = ([[x0, x1], [y0, y1]]) => word(x1) + word(x0) + word(y1) + word(y0);

/** Returns Solidity source with the verification keys that are published with the circuit files. */
const verificationKeys = () => {
  const folder = join(dirname(require.resolve("pp-artifacts")), "artifacts");
  const keyOf = (circuit) => {
    const key = JSON.parse(readFileSync(join(folder, `${circuit}.vkey`), "utf8"));
    const fixed =
      point(key.vk_alpha_1) +
      [key.vk_beta_2, key.vk_gamma_2, key.vk_delta_2].map(twistPoint).join("");
    return fixed + key.IC.map(point).join("");
  };
  const constant = (name, circuit) =>
    `bytes internal constant ${name} = hex"${keyOf(circuit)}";`;
  return `pragma solidity ^0.8.26; library Keys { ${constant("WITHDRAWAL", "withdraw")} ${constant("COMMITMENT", "commitment")} }`;
};

const readImport = (path) => {
  try {
    return { contents: readFileSync(join(root, "node_modules", path), "utf8") };
  } catch {
    return { error: `${path} is not installed.` };
  }
};

/** Compiles the libraries, and computes the address at which the CREATE2 deployer puts each. */
const compileLibraries = (libraries, evmVersion) =>
  Object.entries(libraries).map(([name, path]) => {
    const sources = { [path]: { content: readImport(path).contents } };
    const code = solcOutput(sources, { evmVersion }).contracts[path][name].evm.bytecode.object;
    const bytecode = `0x${code}`;
    const at = { opcode: "CREATE2", from: CREATE2_DEPLOYER, salt: zeroHash, bytecode };
    return { name, path, code, address: getContractAddress(at) };
  });

const solcOutput = (sources, settings) =>
  JSON.parse(
    solc.compile(
      JSON.stringify({
        language: "Solidity",
        sources,
        settings: {
          ...settings,
          optimizer: { enabled: true, runs: 1000 },
          // Without the metadata hash, a changed comment does not change the code, and so not the
          // contracts' addresses.
          metadata: { bytecodeHash: "none" },
          outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
        },
      }),
      { import: readImport },
    ),
  );

const compile = ({ path, evmVersion, libraries = {}, generated = () => ({}) }) => {
  const folder = join(root, path);
  const files = readdirSync(folder).filter((file) => file.endsWith(".sol"));
  const sources = Object.fromEntries(
    [
      ...files.map((file) => [file, readFileSync(join(folder, file), "utf8")]),
      ...Object.entries(generated()),
    ].map(([file, content]) => [file, { content }]),
  );
  const linked = compileLibraries(libraries, evmVersion);
  const output = solcOutput(sources, {
    evmVersion,
    libraries: Object.fromEntries(
      linked.map(({ name, path: file, address }) => [file, { [name]: address }]),
    ),
  });
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0)
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const own = files.flatMap((file) =>
    Object.entries(output.contracts[file] ?? {}).flatMap(([name, { evm }]) =>
      // Interfaces have no code, and the library `Assets` has only internal functions, which are
      // inlined.
      evm.bytecode.object === "" || name === "Assets"
        ? []
        : [{ name, folder, code: evm.bytecode.object }],
    ),
  );
  return [...own, ...linked.map(({ name, code }) => ({ name, folder, code }))];
};

const fileOf = ({ name, folder, code }) => {
  const file = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  const constant = `${file.replaceAll("-", "_").toUpperCase()}_CODE`;
  const lines = [
    `// Creation code of ${name}.sol, by solc ${solc.version()} (scripts/compile-contracts.mjs).`,
    `export const ${constant} =\n  "0x${code}";`,
  ];
  return { path: join(folder, `${file}.ts`), text: `${lines.join("\n")}\n` };
};

for (const contract of FOLDERS.flatMap(compile)) {
  const { path, text } = fileOf(contract);
  if (!isCheck) {
    writeFileSync(path, text);
    console.log(`${contract.name}: ${contract.code.length / 2} bytes`);
  } else if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
    console.error(`${contract.name}: the committed code is not what its source compiles to.`);
    process.exitCode = 1;
  }
}
