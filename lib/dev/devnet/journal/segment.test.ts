import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { encodeRecord, type JournalRecord } from "./record";
import { cutTail, openSegment, readSegment } from "./segment";

const folder = mkdtempSync(join(tmpdir(), "causeway-segment-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RECORDS: readonly JournalRecord[] = [
  {
    calls: [["eth_sendRawTransaction", ["0x02"]]],
    block: { number: 7, time: 1_700_000_000 },
    clockOffset: 0,
  },
  { calls: [["anvil_setBalance", ["0xä", "0x1"]]], block: null, clockOffset: 0 },
  { calls: [], block: { number: 8, time: 1_700_003_600 }, clockOffset: 3_600 },
];

const read = async (path: string): Promise<{ records: JournalRecord[]; end: number }> => {
  const records: JournalRecord[] = [];
  let last = 0;
  for await (const { record, end } of readSegment(path)) {
    records.push(record);
    last = end;
  }
  return { records, end: last };
};

test("what was appended is read again, also by somebody else while the file is open", async () => {
  const path = join(folder, "whole");
  const writer = openSegment(path);
  for (const record of RECORDS) writer.append(record);
  expect(await read(path)).toEqual({ records: RECORDS, end: readFileSync(path).length });
  await writer.close();
});

test("a file that was cut at any byte gives the records that are whole, and only those", async () => {
  const lines = RECORDS.map((record) => Buffer.from(encodeRecord(record)));
  const whole = Buffer.concat(lines);
  const path = join(folder, "torn");
  for (let length = 0; length <= whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length));
    const { records, end } = await read(path);
    const fitting = lines.filter(
      (_, index) => Buffer.concat(lines.slice(0, index + 1)).length <= length,
    );
    expect(records).toEqual(RECORDS.slice(0, fitting.length));
    expect(end).toBe(Buffer.concat(fitting).length);
  }
});

test("a damaged line ends what counts; what is cut is kept aside", async () => {
  const path = join(folder, "damaged");
  const [first, second, third] = RECORDS.map(encodeRecord);
  writeFileSync(path, `${first ?? ""}${second?.replace("0x1", "0x2") ?? ""}${third ?? ""}`);
  const { records, end } = await read(path);
  expect(records).toEqual(RECORDS.slice(0, 1));
  const before = readFileSync(path);
  expect(await cutTail(path, end)).toBe(before.length - end);
  expect(readFileSync(`${path}.damaged`)).toEqual(before);
  appendFileSync(path, third ?? "");
  expect((await read(path)).records).toEqual([RECORDS[0], RECORDS[2]]);
});
