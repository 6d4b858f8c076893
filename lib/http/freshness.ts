/** Reads that a replica answers, never older than what their caller wrote. */
import type { Contract } from "@/lib/contracts/contract";
import { FRESHNESS_COOKIE, FRESHNESS_HEADER } from "@/lib/core/freshness";
import type { HttpInput } from "./input";
import type { HttpServices } from "./services";

/** Longer than a replica may lag and be asked. */
const COOKIE_SECONDS = 60;

/** The token of the caller's last change: its header, or a browser's cookie. */
const tokenOf = (input: Pick<HttpInput, "header">): string | null => {
  const sent = input.header(FRESHNESS_HEADER);
  if (sent !== null) return sent;
  const start = `${FRESHNESS_COOKIE}=`;
  const cookie = input
    .header("cookie")
    ?.split("; ")
    .find((each) => each.startsWith(start));
  return cookie === undefined ? null : cookie.slice(start.length);
};

/**
 * Answers from the replica where the contract allows it and the replica has what the caller wrote; else, and where the
 * replica's answer fails for any reason, from the primary.
 */
export const answerRead = async <S extends HttpServices, T>(
  contract: Contract,
  input: Pick<HttpInput, "header">,
  services: S,
  answer: (services: S) => Promise<T>,
): Promise<T> => {
  const replica = contract.mayBeOld === true ? services.replica : null;
  if (!replica || !(await replica.has(tokenOf(input)))) return answer(services);
  try {
    return await answer({ ...services, ...replica.reads });
  } catch {
    // A record that is missing there may be a moment old and made by somebody else, so the primary decides about every refusal too.
    return answer(services);
  }
};

/** Headers for the caller of a change: the token that makes later reads see it. Empty without a replica. */
export const freshnessHeaders = async (
  contract: Contract,
  input: Pick<HttpInput, "header">,
  services: HttpServices,
): Promise<Readonly<Record<string, string>>> => {
  const { replica } = services;
  if (!replica || contract.method === "GET" || contract.readsOnly === true) return {};
  const place = await replica.writtenUpTo().catch(() => null);
  if (place === null) return {};
  const token = { [FRESHNESS_HEADER]: place };
  if (input.header("cookie") === null) return token;
  const secure = services.config.publicUrl.startsWith("https:") ? "; Secure" : "";
  const life = `Max-Age=${String(COOKIE_SECONDS)}`;
  return { ...token, "set-cookie": `${FRESHNESS_COOKIE}=${place}; Path=/; ${life}; HttpOnly; SameSite=Lax${secure}` };
};
