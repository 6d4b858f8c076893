/** The API calls that the documents show with curl, and values for their placeholders. */
import { contracts } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { createRouteTable } from "@/lib/http/route-table";
import { placeOf, type Fence } from "./documents";

/** A curl call, up to the next one or the end of its fence. */
const COMMAND = /^curl ([^\n]*?)\$API(\/[^\s"]*)([^]*?)(?=^curl |(?![^]))/gm;

export interface ShownCall {
  /** File and line, such as `docs/guide.md:8`. */
  readonly place: string;
  readonly method: string;
  /** Path relative to `/api`, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as written, with placeholders. */
  readonly body?: string;
  /** The status in the comment after the call, if it differs from the operation's own. */
  readonly status?: number;
}

const headersOf = (command: string): Record<string, string> =>
  Object.fromEntries(
    [...command.matchAll(/-H (["'])(.+?): ?(.*?)\1/g)].map(([, , name = "", value = ""]) => [
      name.toLowerCase(),
      value,
    ]),
  );

/** The calls in a fence, in order. */
export const callsOf = (fence: Fence): ShownCall[] =>
  [...fence.text.matchAll(COMMAND)].map(({ 0: command, 2: path = "", index }) => {
    const body = /-d '([^']*)'/.exec(command)?.[1];
    const status = /# (\d{3})\b/.exec(command)?.[1];
    const methodByBody = body === undefined ? "GET" : "POST";
    const line = fence.line + fence.text.slice(0, index).split("\n").length - 1;
    return {
      place: placeOf({ file: fence.file, line }),
      method: /-X (\w+)/.exec(command)?.[1] ?? methodByBody,
      path,
      headers: headersOf(command),
      ...(body === undefined ? {} : { body }),
      ...(status === undefined ? {} : { status: Number(status) }),
    };
  });

const tables = new Map(
  ["GET", "POST", "PUT", "PATCH", "DELETE"].map((method) => [
    method,
    createRouteTable(
      contracts
        .filter((contract) => contract.method === method)
        .map((contract) => ({ path: contract.path.replace(/\{([^}]+)\}/g, "[$1]"), contract })),
    ),
  ]),
);

/** The operation with a method and a path, whose parameters may be names in braces or values. */
export const contractFor = (method: string, path: string): Contract | undefined =>
  tables.get(method)?.(path.split("?")[0] ?? "")?.entry.contract;

const IDS_END = "01980000-0000-7000-8000-000000000000";
const ADDRESS = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";

/**
 * The text with an example for each id such as `qt_…` and each address such as `0xTREASURY` or
 * `0x…`.
 */
export const withExamples = (text: string): string =>
  text
    .replaceAll(/\b([a-z]+)_…/g, `$1_${IDS_END}`)
    .replaceAll(/"0x(?:[A-Z]+|…)"/g, `"${ADDRESS}"`);
