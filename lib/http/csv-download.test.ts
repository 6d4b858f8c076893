import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contracts } from "@/lib/contracts/all";
import { csvLine, joinCsv } from "@/lib/core/csv";
import { csvDownload } from "./csv-download";

/** The route file for a path of the API. */
const fileOf = (path: string): string =>
  join("app/api", path.replaceAll(/\{(\w+)\}/g, "[$1]"), "route.ts");

const exportFiles = contracts
  .filter(({ mediaType }) => mediaType === "text/csv")
  .map(({ path }) => fileOf(path));

const codeFiles = ["app", "lib", "components"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
);

const filesWith = (text: string): string[] =>
  codeFiles.filter((file) => readFileSync(file, "utf8").includes(text));

test("every export that the contracts describe as CSV is sent by the one guarded download, and nothing else sends CSV", () => {
  expect(exportFiles.length).toBeGreaterThan(0);
  expect(filesWith("csvDownload(").sort()).toEqual(exportFiles.sort());
  expect(filesWith('"content-type": "text/csv')).toEqual(["lib/http/csv-download.ts"]);
  // The types accept only the result of `csvLine` and `joinCsv` as a download; a cast would bypass
  // them.
  expect(filesWith("as CsvText")).toEqual(["lib/core/csv.ts"]);
});

test("a download holds its lines in their order", async () => {
  const lines = [csvLine(["name"]), joinCsv([csvLine(["＝1+1"]), csvLine(["plain"])])];
  expect(await csvDownload("a.csv", lines).text()).toBe("name\r\n'＝1+1\r\nplain\r\n");
});
