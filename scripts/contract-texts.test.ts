import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import ts from "typescript";
import { expect, test } from "vitest";

const takeTextsOut = createRequire(import.meta.url)("./contract-texts.cjs") as (
  source: string,
) => string;
const FOLDER = "lib/contracts";
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".ts"));

test.each(files)(
  "%s without its texts is a valid file that has the same exports and no text",
  (file) => {
    const source = readFileSync(`${FOLDER}/${file}`, "utf8");
    const shorter = takeTextsOut(source);
    const { diagnostics } = ts.transpileModule(shorter, {
      reportDiagnostics: true,
      fileName: file,
    });
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
    expect(shorter).not.toMatch(/\b(description|summary):\s+["']/);
    const exported = (text: string) =>
      [...text.matchAll(/^export (?:const|type|interface) (\w+)/gm)].map(([, name]) => name);
    expect(exported(shorter)).toEqual(exported(source));
  },
);

test("code beside a text stays as it is", () => {
  const source =
    'z.object({ description: z.string().max(9).meta({ description: "A \\"text\\", with a } in it" }), id })';
  expect(takeTextsOut(source)).toBe(
    "z.object({ description: z.string().max(9).meta({ }), id })",
  );
});
