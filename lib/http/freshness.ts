/** Reads from a replica that are never older than the caller's own writes. */
import { mayWrite, type Contract } from "@/lib/contracts/contract";
import { FRESHNESS_COOKIE, FRESHNESS_HEADER } from "@/lib/core/fresh-cache";
import type { HttpInput } from "./input";
import type { HttpServices } from "./services";

/** Lifetime of the cookie. It is longer than the lag up to which a replica is used. */
const COOKIE_SECONDS = 60;

/** The token of the caller's last write: the header, or a browser's cookie. */
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
 * Answers from the replica when the contract allows it and the replica has the caller's writes.
 * Otherwise, and when the replica's answer fails for any reason, answers from the primary.
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
    // An error from the replica may be outdated, because somebody may have created the record
    // after the replica's last update. The primary therefore decides about every error.
    return answer(services);
  }
};

/**
 * Headers for the caller of a write: a token with which later reads see the write. Empty without a
 * replica.
 */
export const freshnessHeaders = async (
  contract: Contract,
  input: Pick<HttpInput, "header">,
  services: HttpServices,
): Promise<Readonly<Record<string, string>>> => {
  const { replica } = services;
  if (!replica || !mayWrite(contract)) return {};
  const place = await replica.writtenUpTo().catch(() => null);
  if (place === null) return {};
  const token = { [FRESHNESS_HEADER]: place };
  if (input.header("cookie") === null) return token;
  const secure = services.config.publicUrl.startsWith("https:") ? "; Secure" : "";
  const life = `Max-Age=${String(COOKIE_SECONDS)}`;
  return {
    ...token,
    "set-cookie": `${FRESHNESS_COOKIE}=${place}; Path=/; ${life}; HttpOnly; SameSite=Lax${secure}`,
  };
};
