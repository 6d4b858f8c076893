import { describe, expect, test } from "vitest";
import { csvLine } from "./csv";

describe("a line of CSV", () => {
  test("ends with CRLF, leaves null empty, and keeps plain text and numbers as they are", () => {
    expect(csvLine(["a", 1, -2, 10n ** 30n, null, ""])).toBe(
      "a,1,-2,1000000000000000000000000000000,,\r\n",
    );
  });

  test("quotes commas, quotes and line ends, with quotes doubled (RFC 4180)", () => {
    expect(csvLine(['say "hi"', "a,b", "one\ntwo", "one\r\ntwo"])).toBe(
      '"say ""hi""","a,b","one\ntwo","one\r\ntwo"\r\n',
    );
  });

  const RUN = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\tplain"];
  const FULL_WIDTH = ["＝1+1", "＋1", "－1", "＠SUM(A1)", "﹦1"];
  const AFTER_SPACES = [
    "  =1",
    "\u00a0=1",
    "\u3000＝1",
    "\ufeff=1",
    "\u200b@SUM(A1)",
    " \t-1",
    "\u0000+1",
  ];
  test.each([...RUN, ...FULL_WIDTH, ...AFTER_SPACES])(
    "does not let a spreadsheet run %j",
    (text) => {
      expect(csvLine([text]).replace(/^"/, "").startsWith("'")).toBe(true);
    },
  );

  test("makes a formula harmless before it quotes it", () => {
    expect(csvLine(['=HYPERLINK("http://x","y")'])).toBe(
      '"\'=HYPERLINK(""http://x"",""y"")"\r\n',
    );
  });
});
