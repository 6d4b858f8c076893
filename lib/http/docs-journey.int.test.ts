/**
 * Makes the calls of the documents one after another, as a reader does: each answer has the ids
 * that later calls use.
 */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createGlobalAccount } from "@/lib/contracts/global-accounts";
import { SCOPES } from "@/lib/contracts/contract";
import { testApi } from "@/lib/dev/testing/api";
import { fencesOf, readDocument } from "@/lib/dev/testing/documents";
import { testAccount } from "@/lib/dev/testing/factories";
import { codesOf, fund, newCustomer } from "@/lib/dev/testing/journey";
import { callsOf, contractFor, type ShownCall } from "@/lib/dev/testing/shown-calls";

const api = await testApi({ worker: true });

const JOURNEY_MS = 120_000;
const MONEY = [
  { chainId: 31337, token: "USDC", amount: "5000" },
  { chainId: 31338, token: "USDT", amount: "1000" },
  { chainId: 31337, token: "native", amount: "1" },
];

/**
 * Creates a person with money and a key of all scopes, and values for the placeholders of the
 * documents.
 */
const newReader = async () => {
  const customer = await newCustomer(api);
  for (const money of MONEY) await fund(customer.session.client, customer.treasury, money);
  const key = await api.createKey(customer.session, { scopes: [...SCOPES] });
  const other = await key.client.call(createGlobalAccount, {
    body: { currency: "USDC", name: "Reader" },
  });
  // Ids by kind, with the newest one last.
  const ids = new Map<string, string[]>([
    ["wal", [customer.treasuryId]],
    ["ga", [other.id]],
  ]);
  const addresses = new Map<string, string>([["0xTREASURY", customer.treasury]]);
  const credentials = { $KEY: key.secret, $TOKEN: customer.session.accessToken } as const;
  let seen = await codesOf(api, customer);

  const remember = (value: unknown): void => {
    if (typeof value === "string") {
      const kind = /^([a-z]+)_[0-9a-f]{8}-[0-9a-f-]{27}$/.exec(value)?.[1];
      if (kind !== undefined)
        ids.set(kind, [...(ids.get(kind) ?? []).filter((id) => id !== value), value]);
    } else if (typeof value === "object" && value !== null)
      Object.values(value).forEach(remember);
  };

  const addressOf = (name: string): string => {
    if (!addresses.has(name)) addresses.set(name, testAccount().address);
    return addresses.get(name) ?? "";
  };

  /** Each further placeholder of the same kind in one call stands for the next older id. */
  const filled = (text: string): string => {
    const used = new Map<string, number>();
    return text
      .replaceAll(/\b([a-z]+)_…/g, (_all, kind: string) => {
        const back = (used.get(kind) ?? 0) + 1;
        used.set(kind, back);
        const id = ids.get(kind)?.at(-back);
        if (id === undefined) throw new Error(`No answer had an id of the kind ${kind}.`);
        return id;
      })
      .replaceAll(/"(0x(?:[A-Z]+|…))"/g, (_all, name: string) => `"${addressOf(name)}"`);
  };

  const withCode = async (body: string): Promise<string> => {
    if (!body.includes('"123456"')) return body;
    const code = await api.readCode(customer.email, seen);
    seen = [...seen, code];
    return body.replace("123456", code);
  };

  const headersOf = (headers: ShownCall["headers"]): Record<string, string> =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        value
          .replace(/\$\w+/, (variable) => credentials[variable as keyof typeof credentials])
          .replace("…", randomUUID()),
      ]),
    );

  /** @returns the status of the answer, with its text when it is not the expected one */
  const follow = async (call: ShownCall): Promise<string> => {
    const { method, path, headers, body } = call;
    const contract = contractFor(method, path);
    const expected = call.status ?? contract?.status;
    const init = { method, headers: headersOf(headers) };
    const stop = new AbortController();
    const sent = body === undefined ? {} : { body: await withCode(filled(body)) };
    const answer = await api.fetch(filled(path), { ...init, ...sent, signal: stop.signal });
    if (contract?.mediaType === "text/event-stream") {
      stop.abort();
      return String(answer.status);
    }
    const text = await answer.text();
    if (answer.headers.get("content-type")?.startsWith("application/json") === true)
      remember(JSON.parse(text));
    return answer.status === expected ? String(expected) : `${String(answer.status)} ${text}`;
  };
  return { follow };
};

const documents = ["README.md", "docs/guide.md"];

test.each(documents)(
  "the calls of %s can be made in their order",
  async (file) => {
    const calls = fencesOf(file, readDocument(file)).flatMap(callsOf);
    expect(calls.length).toBeGreaterThan(4);
    const reader = await newReader();
    const answered: string[] = [];
    for (const call of calls)
      answered.push(`${call.place} ${call.path}: ${await reader.follow(call)}`);
    expect(answered).toEqual(
      calls.map((call) => {
        const { method, path } = call;
        return `${call.place} ${path}: ${String(call.status ?? contractFor(method, path)?.status)}`;
      }),
    );
  },
  JOURNEY_MS,
);
