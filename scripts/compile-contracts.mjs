// Compiles the contracts of the project: `node scripts/compile-contracts.mjs`. What it writes is committed, so that starting
// and deploying need no compiler. With `--check` it writes nothing, and fails when a committed file is not what its source gives.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import solc from "solc";

/** The paymaster needs transient storage (Cancun); the tokens of the local chains keep the addresses that Paris gives them. */
const FOLDERS = [
  { path: "lib/devnet/solidity", evmVersion: "paris" },
  { path: "lib/chains/solidity", evmVersion: "cancun" },
];
const isCheck = process.argv.includes("--check");
const root = new URL("..", import.meta.url).pathname;

const compile = ({ path, evmVersion }) => {
  const folder = join(root, path);
  const files = readdirSync(folder).filter((file) => file.endsWith(".sol"));
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: "Solidity",
        sources: Object.fromEntries(files.map((file) => [file, { content: readFileSync(join(folder, file), "utf8") }])),
        settings: {
          optimizer: { enabled: true, runs: 1000 },
          evmVersion,
          // Without it the addresses of the contracts would follow from their comments.
          metadata: { bytecodeHash: "none" },
          outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
        },
      }),
    ),
  );
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
  return Object.values(output.contracts).flatMap((contracts) =>
    Object.entries(contracts).flatMap(([name, { evm }]) =>
      // Interfaces have no code.
      evm.bytecode.object === "" ? [] : [{ name, folder, code: evm.bytecode.object }],
    ),
  );
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
