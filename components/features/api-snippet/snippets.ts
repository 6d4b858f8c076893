import type { Method } from "@/lib/contracts/contract";

export interface SnippetCall {
  readonly method: Method;
  /** The contract's path with its parameters filled in: `/operations/op_…`. */
  readonly path: string;
  readonly body?: unknown;
  /**
   * `apiKey` (default) for calls that API keys may make; `bearer` for calls that only signed-in
   * people may make.
   */
  readonly auth?: "apiKey" | "bearer" | "none";
}

const HEADERS = {
  apiKey: {
    name: "x-api-key",
    shell: "$CAUSEWAY_API_KEY",
    js: "process.env.CAUSEWAY_API_KEY",
    python: 'os.environ["CAUSEWAY_API_KEY"]',
  },
  bearer: {
    name: "authorization",
    shell: "Bearer $ACCESS_TOKEN",
    js: "`Bearer ${process.env.ACCESS_TOKEN}`",
    python: '"Bearer " + os.environ["ACCESS_TOKEN"]',
  },
} as const;

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The call as a shell command. It reads secrets from environment variables, so that they are never
 * on the page.
 */
export const toCurl = (
  baseUrl: string,
  { method, path, body, auth = "apiKey" }: SnippetCall,
): string => {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${shellQuoted(baseUrl + path)}`,
  ];
  if (auth !== "none") lines.push(`-H "${HEADERS[auth].name}: ${HEADERS[auth].shell}"`);
  if (body !== undefined)
    lines.push(
      `-H 'content-type: application/json'`,
      `-d ${shellQuoted(JSON.stringify(body))}`,
    );
  return lines.join(" \\\n  ");
};

const indented = (text: string): string => text.replaceAll("\n", "\n  ");

export const toTypeScript = (
  baseUrl: string,
  { method, path, body, auth = "apiKey" }: SnippetCall,
): string => {
  const headers = [
    ...(auth === "none" ? [] : [`${JSON.stringify(HEADERS[auth].name)}: ${HEADERS[auth].js}`]),
    ...(body === undefined ? [] : [`"content-type": "application/json"`]),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}"`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(", ")} }`]),
    ...(body === undefined
      ? []
      : [`body: JSON.stringify(${indented(JSON.stringify(body, null, 2))})`]),
  ];
  const url = JSON.stringify(baseUrl + path);
  const argument = options.length === 0 ? "" : `, {\n  ${options.join(",\n  ")},\n}`;
  return `const response = await fetch(${url}${argument});\nif (!response.ok) throw new Error(await response.text());\nconst result = await response.json();`;
};

/**
 * A JSON value as a Python literal. Python writes `True`, `False` and `None`. Strings have the
 * same form in JSON and in Python.
 */
const pythonLiteral = (value: unknown, indent = ""): string => {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  const deeper = `${indent}    `;
  const lines = (open: string, items: readonly string[], close: string): string =>
    items.length === 0
      ? open + close
      : `${open}\n${items.map((item) => `${deeper}${item},\n`).join("")}${indent}${close}`;
  if (Array.isArray(value))
    return lines(
      "[",
      value.map((item: unknown) => pythonLiteral(item, deeper)),
      "]",
    );
  if (typeof value === "object")
    return lines(
      "{",
      Object.entries(value).flatMap(([name, item]: [string, unknown]) =>
        item === undefined ? [] : [`${JSON.stringify(name)}: ${pythonLiteral(item, deeper)}`],
      ),
      "}",
    );
  return JSON.stringify(value);
};

export const toPython = (
  baseUrl: string,
  { method, path, body, auth = "apiKey" }: SnippetCall,
): string => {
  const headers = [
    ...(auth === "none"
      ? []
      : [`${JSON.stringify(HEADERS[auth].name)}: ${HEADERS[auth].python}`]),
    ...(body === undefined ? [] : [`"content-type": "application/json"`]),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method="${method}"`]),
    ...(headers.length === 0 ? [] : [`headers={${headers.join(", ")}}`]),
    ...(body === undefined ? [] : [`data=json.dumps(${pythonLiteral(body, "    ")}).encode()`]),
  ];
  const imports = [
    "import json",
    ...(auth === "none" ? [] : ["import os"]),
    "import urllib.request",
  ].join("\n");
  const args = [JSON.stringify(baseUrl + path), ...options]
    .map((option) => `    ${option},\n`)
    .join("");
  return `${imports}\n\nrequest = urllib.request.Request(\n${args})\nwith urllib.request.urlopen(request) as response:\n    result = json.load(response)`;
};
