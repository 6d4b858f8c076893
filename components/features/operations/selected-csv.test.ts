import { expect, test } from "vitest";
import { selectedLines } from "./selected-csv";

const CSV =
  '\uFEFFid,memo,amount\r\nop_1,"Rent, May",-1.5\r\nop_1,,2\r\nop_2,"two\nlines",3\r\nop_3,"\'=1+1",4\r\n';

test("the lines of selected movements stand as in the export, all lines of each", () => {
  expect(selectedLines(CSV, ["op_1"])).toBe(
    '\uFEFFid,memo,amount\r\nop_1,"Rent, May",-1.5\r\nop_1,,2\r\n',
  );
  expect(selectedLines(CSV, ["op_3", "op_2"])).toBe(
    '\uFEFFid,memo,amount\r\nop_2,"two\nlines",3\r\nop_3,"\'=1+1",4\r\n',
  );
});

test("a movement that the export lacks is no silent gap", () => {
  expect(() => selectedLines(CSV, ["op_1", "op_9", "op_8"])).toThrow(
    "2 of them are not in the export.",
  );
});
