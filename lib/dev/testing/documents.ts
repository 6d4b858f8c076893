/** The documents of the repository, for tests that check their content. */
import { readdirSync, readFileSync } from "node:fs";

/** Each document by its path: the Markdown files of the repository's root and of docs/. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

export interface Fence {
  readonly file: string;
  /** Number of the first line of the text, from 1. */
  readonly line: number;
  /** The first word after the backticks; empty when there is none. */
  readonly language: string;
  /** The words after the language, such as the name of the quoted file. */
  readonly info: string;
  /** The text without the indentation of the fence. */
  readonly text: string;
}

const FENCE = /^( *)```([^\n`]*)\n([^]*?)^ *```$/gm;

/** The fenced code blocks of Markdown, in order. */
export const fencesOf = (file: string, markdown: string): Fence[] =>
  [...markdown.matchAll(FENCE)].map(
    ({ 1: indent = "", 2: words = "", 3: body = "", index }) => {
      const [language = "", ...info] = words.trim().split(" ");
      const lines = body
        .split("\n")
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
      const line = markdown.slice(0, index).split("\n").length + 1;
      return { file, line, language, info: info.join(" "), text: lines.join("\n") };
    },
  );

export const readDocument = (file: string): string => readFileSync(file, "utf8");

/** The fenced code blocks of all documents. */
export const allFences = (): Fence[] =>
  DOCUMENTS.flatMap((file) => fencesOf(file, readDocument(file)));

export interface CodeSpan {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The inline code spans of a document, without its fenced code blocks. */
export const codeSpansOf = (file: string): CodeSpan[] => {
  // Fences are replaced by blanks, so that lines keep their numbers.
  const prose = readDocument(file).replaceAll(FENCE, (fence) =>
    fence.replaceAll(/[^\n]/g, " "),
  );
  return prose.split("\n").flatMap((content, index) =>
    [...content.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => ({
      file,
      line: index + 1,
      text,
    })),
  );
};

/** The anchors of the headings of Markdown, in GitHub's form. */
export const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

export const placeOf = ({ file, line }: Pick<CodeSpan, "file" | "line">): string =>
  `${file}:${String(line)}`;
