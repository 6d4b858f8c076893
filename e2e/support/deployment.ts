/**
 * Deploys the service as the Dockerfile does, but without containers: a read-only folder, and
 * processes of an unprivileged user.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { rm } from "node:fs/promises";

/**
 * User id of Debian's `nobody`. Only root can change to it; any other user runs the processes as
 * themselves.
 */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

interface Stage {
  readonly name: string;
  readonly instructions: readonly { readonly name: string; readonly text: string }[];
}

/** Parses the stages of a Dockerfile in which every instruction fits on one line. */
export const readStages = (file: string): readonly Stage[] => {
  const stages: { name: string; instructions: { name: string; text: string }[] }[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, name, text] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === undefined || text === undefined) continue;
    if (name === "FROM")
      stages.push({ name: / AS (\w+)$/.exec(text)?.[1] ?? "final", instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
};

const textsOf = (stage: Stage | undefined, name: string): readonly string[] =>
  (stage?.instructions ?? []).filter((one) => one.name === name).map(({ text }) => text);

/** Parses the command of `CMD [...]` or `HEALTHCHECK ... CMD [...]`. */
const commandOf = (text: string | undefined): readonly string[] =>
  JSON.parse(/\[.*\]$/.exec(text ?? "")?.[0] ?? "[]") as string[];

/**
 * Parses the text of a COPY instruction: `--from=build /app/a /app/b ./c` → [{ from: "a", to: "c"
 * }, …]. A target folder ends in `/`.
 */
const copiesOf = (text: string): readonly { from: string; to: string }[] => {
  const [, ...paths] = text.split(" ").map((path) => path.replace(/^(\/app|\.)\//, ""));
  const to = paths.pop() ?? "";
  return paths.map((from) => ({
    from,
    to: to === "" || to.endsWith("/") ? join(to, from) : to,
  }));
};

/** Lists path, size and modification time of each file below a folder, without following links. */
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
    if (!entry.isSymbolicLink())
      chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o555 : 0o444);
  chmodSync(folder, 0o555);
};

export interface Started {
  readonly child: ChildProcess;
  /** Returns everything that the process wrote so far. */
  readonly output: () => string;
  /** Resolves to the exit code, or to the signal that ended the process. */
  readonly ended: Promise<number | string>;
}

export interface Deployment {
  /**
   * Lists path, size and modification time of each deployed file. Tests compare the list before and
   * after a run, because the service may not change any file.
   */
  readonly files: () => readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  /** Starts a command in the deployed folder as the unprivileged user. */
  start(command: readonly string[], variables: Readonly<Record<string, string>>): Started;
  /** Kills the processes that still run, and removes the folder. */
  remove(): Promise<void>;
}

interface AssembleOptions {
  /**
   * The node_modules folder to deploy. The default is the checkout's own folder. Unlike the folder
   * that the Dockerfile installs, it also contains the development packages.
   */
  readonly packages?: string;
  /** Path of a deployed file or folder that is left out. */
  readonly without?: string;
}

/** Copies the files of the Dockerfile's last stage from a built checkout. */
export const assemble = (
  checkout: string,
  { packages = join(checkout, "node_modules"), without }: AssembleOptions = {},
): Deployment => {
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
  if (without !== undefined) rmSync(join(tree, without), { recursive: true });
  makeReadOnly(tree);
  chmodSync(base, 0o755);
  chmodSync(scratch, 0o777);
  const fixed = Object.fromEntries(
    textsOf(last, "ENV").flatMap((text) =>
      text.split(" ").map((pair) => pair.split("=") as [string, string]),
    ),
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
      const ended = once(child, "exit").then(
        ([code, signal]) => (code ?? signal) as number | string,
      );
      return { child, output: () => output, ended };
    },
    remove: async () => {
      for (const child of running) if (child.exitCode === null) child.kill("SIGKILL");
      if (!isRoot) for (const folder of [tree, base]) chmodSync(folder, 0o755);
      await rm(base, { recursive: true, force: true });
    },
  };
};
