import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { afterFile } from "@/lib/dev/testing/after-file";
import { archivedMonth, MONTH } from "@/lib/dev/testing/archived-month";
import { entryFile } from "@/lib/dev/testing/entry";
import { startPgProxy, type Statement } from "@/lib/dev/testing/pg-proxy";
import { archiveMonth, checkMonth, restoreMonth } from "./archive";

const ENDED = 5;
const { url, directory, request, rows, sequences, state, forgetFiles } = await archivedMonth({
  ended: ENDED,
});
const before = await rows();
await archiveMonth(request);
const archived = await rows();
await restoreMonth(request);

/** Called for each answer of the database. */
let onAnswer: (statement: Statement) => "go" | "cut" = () => "go";
const proxy = await startPgProxy(url, {
  watch: (stage, statement) => (stage === "after" ? onAnswer(statement) : "go"),
});
afterFile(() => proxy.close());
const through = { ...request, url: proxy.url };

beforeEach(() => {
  onAnswer = () => "go";
});

/**
 * Cuts the command's connection after this many answers. @returns whether the command came that far
 */
const cutAfter = async (answers: number, command: typeof archiveMonth): Promise<boolean> => {
  let seen = 0;
  onAnswer = () => ((seen += 1) === answers ? "cut" : "go");
  await command(through).catch(() => undefined);
  return seen >= answers;
};

test("an archive whose connection ends after any of its statements is completed by the next call", async () => {
  let cuts = 0;
  for (let answers = 1; ; answers += 1) {
    await forgetFiles();
    if (!(await cutAfter(answers, archiveMonth))) break;
    cuts += 1;
    await archiveMonth(request);
    expect([answers, await rows(), await state()]).toEqual([answers, archived, "removed"]);
    await restoreMonth(request);
    expect([answers, await rows()]).toEqual([answers, before]);
  }
  // The statements of a command are those of the session and the state, and those for the files of
  // five tables and the removal from three.
  expect(cuts).toBeGreaterThan(30);
}, 180_000);

test("a month that is brought back is so with the next call, after whichever statement the first one ended", async () => {
  await restoreMonth(request);
  for (let answers = 1; ; answers += 1) {
    await archiveMonth(request);
    if (!(await cutAfter(answers, restoreMonth))) break;
    if ((await state()) === "restoring")
      await expect(archiveMonth(request)).rejects.toThrow("being brought back");
    await restoreMonth(request);
    expect([answers, await rows(), await state()]).toEqual([answers, before, "restored"]);
  }
}, 180_000);

test.each([
  ["while it writes the files", /^FETCH/, 3],
  [
    "when the database knows the files, before they have their name",
    /^INSERT INTO archive_month/,
    1,
  ],
  ["while rows leave", /^DELETE FROM webhook_delivery/, 1],
  ["when all rows have left", /^DELETE FROM event/, 1],
])(
  "kill -9 %s loses nothing, and the command goes on when it is repeated",
  async (_when, pattern, times) => {
    await forgetFiles();
    const child = fork(
      entryFile("causeway"),
      ["archive", "--month", MONTH, "--directory", directory],
      {
        env: { DATABASE_URL: proxy.url, NODE_ENV: "test" },
        stdio: "ignore",
      },
    );
    const ended = once(child, "exit");
    let seen = 0;
    onAnswer = ({ sql }) => {
      if (pattern.test(sql) && (seen += 1) === times) {
        child.kill("SIGKILL");
        return "cut";
      }
      return "go";
    };
    expect(await ended).toEqual([null, "SIGKILL"]);
    // Whatever was removed from the tables is in complete files.
    if ((await sequences()).length < ENDED * 3 + 7)
      expect(await checkMonth(request)).toEqual([]);
    await archiveMonth(request);
    expect([await rows(), existsSync(`${directory}/${MONTH}.partial`)]).toEqual([
      archived,
      false,
    ]);
    await restoreMonth(request);
    expect(await rows()).toEqual(before);
  },
);
