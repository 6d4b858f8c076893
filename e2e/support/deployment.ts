/** Follows the Dockerfile without containers: a tree that nothing may write, and processes of a user without rights. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { rm } from "node:fs/promises";

/** Debian's `nobody`. Another user than root stays who they are. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

interface Stage {
  readonly name: string;
  readonly instructions: readonly { readonly name: string; readonly text: string }[];
}

/** The stages of a Dockerfile whose instructions have a line each. */
export const readStages = (file: string): readonly Stage[] => {
  const stages: { name: string; instructions: { name: string; text: string }[] }[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, name, text] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === undefined || text === undefined) continue;
    if (name === "FROM") stages.push({ name: / AS (\w+)$/.exec(text)?.[1] ?? "final", instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
};

const textsOf = (stage: Stage | undefined, name: string): readonly string[] =>
  (stage?.instructions ?? []).filter((one) => one.name === name).map(({ text }) => text);

/** The command of `CMD [...]` or `HEALTHCHECK ... CMD [...]`. */
const commandOf = (text: string | undefined): readonly string[] =>
  JSON.parse(/\[.*\]$/.exec(text ?? "")?.[0] ?? "[]") as string[];

/** `--from=build /app/a /app/b ./c` → [{ from: "a", to: "c" }, …]; a folder as target ends in `/`. */
const copiesOf = (text: string): readonly { from: string; to: string }[] => {
  const [, ...paths] = text.split(" ").map((path) => path.replace(/^(\/app|\.)\//, ""));
  const to = paths.pop() ?? "";
  return paths.map((from) => ({ from, to: to === "" || to.endsWith("/") ? join(to, from) : to }));
};

/** Path, size and time of each file below a folder; links are not followed. */
const snapshotOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => {
      const { size, mtimeMs } = lstatSync(join(parentPath, name));
      return `${join(parentPath, name)} ${String(size)} ${String(mtimeMs)}`;
    })
    .sort();

const makeReadOnly = (folder: string): void => {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o555 : 0o444);
  chmodSync(folder, 0o555);
};

export interface Started {
  readonly child: ChildProcess;
  /** Everything that it wrote. */
  readonly output: () => string;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export interface Deployment {
  /** Path, size and time of each file of the deployed tree, to compare before and after: the service may change none. */
  readonly files: () => readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  /** Starts a command in the tree as the user without rights. */
  start(command: readonly string[], variables: Readonly<Record<string, string>>): Started;
  /** Kills what still runs, and removes the tree. */
  remove(): Promise<void>;
}

/**
 * The tree of the Dockerfile's last stage, from a checkout that is built.
 * @param packages the folder of the packages; the checkout's own one stands in for an install without development packages
 */
export const assemble = (checkout: string, packages = join(checkout, "node_modules")): Deployment => {
  const stages = readStages(join(checkout, "Dockerfile"));
  const last = stages.at(-1);
  const base = mkdtempSync(join(tmpdir(), "causeway-deploy-"));
  const [tree, scratch] = [join(base, "app"), join(base, "tmp")];
  for (const folder of [tree, scratch]) mkdirSync(folder);
  for (const text of textsOf(last, "COPY")) {
    for (const { from, to } of copiesOf(text)) {
      mkdirSync(dirname(join(tree, to)), { recursive: true });
      if (from === "node_modules") symlinkSync(resolve(packages), join(tree, to));
      else cpSync(join(checkout, from), join(tree, to), { recursive: true });
    }
  }
  makeReadOnly(tree);
  chmodSync(base, 0o755);
  chmodSync(scratch, 0o777);
  const fixed = Object.fromEntries(
    textsOf(last, "ENV").flatMap((text) => text.split(" ").map((pair) => pair.split("=") as [string, string])),
  );
  const running: ChildProcess[] = [];
  return {
    files: () => snapshotOf(tree),
    command: commandOf(textsOf(last, "CMD")[0]),
    healthcheck: commandOf(textsOf(last, "HEALTHCHECK")[0]),
    start: ([program = "node", ...args], variables) => {
      const child = spawn(program === "node" ? process.execPath : program, args, {
        cwd: tree,
        env: {
          NODE_ENV: "production",
          PATH: process.env.PATH,
          HOME: "/nonexistent",
          TMPDIR: scratch,
          ...fixed,
          ...variables,
        },
        stdio: ["ignore", "pipe", "pipe"],
        ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
      });
      running.push(child);
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => {
          output += chunk.toString();
        });
      const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
      return { child, output: () => output, ended };
    },
    remove: async () => {
      for (const child of running) if (child.exitCode === null) child.kill("SIGKILL");
      if (!isRoot) for (const folder of [tree, base]) chmodSync(folder, 0o755);
      await rm(base, { recursive: true, force: true });
    },
  };
};
