/** A screening provider over HTTP. Its requests and responses are in docs/operations.md. */
import { z } from "zod";
import type { Clock } from "@/lib/core/clock";
import type {
  ScreenedAddress,
  ScreeningSource,
  ScreeningVerdict,
} from "@/lib/trust/ports/screening";

const ADDRESSES_AT_ONCE_MAX = 500;
const REQUESTS_AT_ONCE_MAX = 4;
const ATTEMPTS_MAX = 2;
const TIMEOUT_MS = 3000;
const ANSWER_BYTES_MAX = 1_000_000;
const SERVER_ERROR = 500;
const TOO_MANY_REQUESTS = 429;

const answer = z.object({
  listVersion: z.string().max(100).nullish(),
  results: z
    .array(
      z.object({
        address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
        chainId: z.int().nullish(),
        verdict: z.enum(["clear", "hit", "not_covered"]),
      }),
    )
    .max(ADDRESSES_AT_ONCE_MAX),
});

export interface HttpScreeningOptions {
  readonly url: string;
  /** The bearer token for the provider, which is never logged; null when there is none. */
  readonly token: string | null;
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly fetchFn?: typeof fetch;
}

type Answer = z.output<typeof answer>;

/** Reads at most `ANSWER_BYTES_MAX` bytes. @throws Error when the response is longer */
const textOf = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) return Buffer.concat(chunks).toString("utf8");
    size += part.value.byteLength;
    if (size > ANSWER_BYTES_MAX) {
      await reader?.cancel();
      throw new Error("The answer is too large.");
    }
    chunks.push(part.value);
  }
};

class TemporaryError extends Error {}

const keyOf = ({
  address,
  chainId,
}: {
  readonly address: string;
  readonly chainId?: number | null | undefined;
}) => `${address.toLowerCase()}:${String(chainId ?? "")}`;

const post = async (
  { url, token, timeoutMs = TIMEOUT_MS, fetchFn = fetch }: HttpScreeningOptions,
  addresses: readonly ScreenedAddress[],
  signal: AbortSignal,
): Promise<Answer> => {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await fetchFn(url, {
      method: "POST",
      // A redirect would send the token and the addresses to another server.
      redirect: "error",
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ addresses }),
      signal: deadline,
    });
    if (response.status >= SERVER_ERROR || response.status === TOO_MANY_REQUESTS)
      throw new TemporaryError(`It answered ${String(response.status)}.`);
    if (!response.ok) throw new Error(`It answered ${String(response.status)}.`);
    return answer.parse(JSON.parse(await textOf(response)));
  } catch (error) {
    // `fetch` reports a lost connection as a TypeError, and the deadline as a DOMException.
    if (error instanceof TypeError || error instanceof DOMException)
      throw new TemporaryError("It did not answer.");
    throw error;
  }
};

const ask = async (
  options: HttpScreeningOptions,
  addresses: readonly ScreenedAddress[],
  signal: AbortSignal,
): Promise<Answer | null> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await post(options, addresses, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (attempt >= ATTEMPTS_MAX || !(error instanceof TemporaryError)) return null;
    }
  }
};

/**
 * Queries a provider chosen by the operator. The verdict is `unavailable` for an address that the
 * answer omits, and for all addresses after an error, a time-out or an answer of another form.
 */
export const createHttpScreening = (options: HttpScreeningOptions): ScreeningSource => {
  const verdicts = async (
    part: readonly ScreenedAddress[],
    signal: AbortSignal,
  ): Promise<ScreeningVerdict[]> => {
    const answered = await ask(options, part, signal);
    const at = options.clock.now();
    const found = new Map<string, Answer["results"][number]["verdict"]>();
    for (const result of answered?.results ?? []) {
      const key = keyOf(result);
      // The stricter of two verdicts on one address counts.
      if (found.get(key) !== "hit") found.set(key, result.verdict);
    }
    return part.map((each) => ({
      state:
        found.get(keyOf(each)) ?? found.get(keyOf({ address: each.address })) ?? "unavailable",
      source: "provider",
      listVersion: answered?.listVersion ?? null,
      at,
    }));
  };

  return {
    name: "provider",
    isActive: () => Promise.resolve(true),
    screen: async (addresses, signal) => {
      signal.throwIfAborted();
      const unique = [...new Map(addresses.map((each) => [keyOf(each), each])).values()];
      const parts: ScreenedAddress[][] = [];
      for (let from = 0; from < unique.length; from += ADDRESSES_AT_ONCE_MAX)
        parts.push(unique.slice(from, from + ADDRESSES_AT_ONCE_MAX));
      const known = new Map<string, ScreeningVerdict>();
      for (let from = 0; from < parts.length; from += REQUESTS_AT_ONCE_MAX) {
        const group = parts.slice(from, from + REQUESTS_AT_ONCE_MAX);
        const answers = await Promise.all(group.map((part) => verdicts(part, signal)));
        group.flat().forEach((each, index) => {
          const verdict = answers.flat()[index];
          if (verdict !== undefined) known.set(keyOf(each), verdict);
        });
      }
      return addresses.map((each) => {
        const verdict = known.get(keyOf(each));
        if (verdict === undefined) throw new Error("An address has no verdict.");
        return verdict;
      });
    },
  };
};
