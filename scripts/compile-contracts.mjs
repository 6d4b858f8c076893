// Compiles the contracts of the local chains: `node scripts/compile-contracts.mjs`. What it writes is committed, so that
// starting needs no compiler.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import solc from "solc";

const folder = new URL("../lib/devnet/solidity/", import.meta.url).pathname;
const files = readdirSync(folder).filter((file) => file.endsWith(".sol"));

const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: "Solidity",
      sources: Object.fromEntries(files.map((file) => [file, { content: readFileSync(join(folder, file), "utf8") }])),
      settings: {
        optimizer: { enabled: true, runs: 1000 },
        evmVersion: "paris",
        // Without it the addresses of the contracts would follow from their comments.
        metadata: { bytecodeHash: "none" },
        outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
      },
    }),
  ),
);

const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
for (const contracts of Object.values(output.contracts)) {
  for (const [name, { evm }] of Object.entries(contracts)) {
    const file = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
    const constant = `${file.replaceAll("-", "_").toUpperCase()}_CODE`;
    const lines = [
      `// Creation code of ${name}.sol, by solc ${solc.version()} (scripts/compile-contracts.mjs).`,
      `export const ${constant} =\n  "0x${evm.bytecode.object}";`,
    ];
    writeFileSync(join(folder, `${file}.ts`), `${lines.join("\n")}\n`);
    console.log(`${name}: ${evm.bytecode.object.length / 2} bytes`);
  }
}
