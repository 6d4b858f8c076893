import { expect, test } from "vitest";
import { parseCsv } from "./csv";

test("cells are read as RFC 4180 writes them: quotes doubled, separators and line ends inside quotes", () => {
  expect(parseCsv('a,"b, c","say ""hi"""\r\n1,"two\nlines",3\r\n')).toEqual([
    ["a", "b, c", 'say "hi"'],
    ["1", "two\nlines", "3"],
  ]);
});

test("what spreadsheets paste and save in other countries is read too, with or without a mark at the start", () => {
  expect(parseCsv("a\tb, c\td\n1\t2\t3")).toEqual([
    ["a", "b, c", "d"],
    ["1", "2", "3"],
  ]);
  expect(parseCsv("\uFEFFa;b\n1,5;2")).toEqual([
    ["a", "b"],
    ["1,5", "2"],
  ]);
});

test("empty lines are left out, empty cells are not", () => {
  expect(parseCsv("\n\na,,c\n , \n\n")).toEqual([["a", "", "c"]]);
  expect(parseCsv("")).toEqual([]);
});

test("a quote inside a cell that did not begin with one is just a quote", () => {
  expect(parseCsv('5" pipe,x')).toEqual([['5" pipe', "x"]]);
});
