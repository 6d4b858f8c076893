/** Reads the message that people sign to sign in (EIP-4361). */
import { getAddress, isAddress } from "viem";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress } from "@/lib/core/evm";
import { parseUrl } from "@/lib/core/redaction";

export interface SignInMessage {
  readonly address: EvmAddress;
  readonly chainId: number;
  readonly nonce: string;
}

interface SignInExpectations {
  readonly publicUrl: string;
  readonly chainIds: readonly number[];
  readonly now: Date;
}

// Patterns for the whole message, line by line (EIP-4361's ABNF). viem's parser finds the fields
// anywhere, so it would not notice additional text that misleads the person who signs. The time of
// viem's parser also grows with the square of a hostile message's length.
const LINES = [
  String.raw`^(?:(?<scheme>[a-z][a-z0-9+.-]*):\/\/)?(?<domain>[^\s]+) wants you to sign in with your Ethereum account:`,
  String.raw`(?<address>0x[0-9a-fA-F]{40})`,
  String.raw`(?:\n[^\n]+)?\n`,
  String.raw`URI: (?<uri>[^\s]+)`,
  String.raw`Version: 1`,
  String.raw`Chain ID: (?<chainId>[0-9]{1,15})`,
  String.raw`Nonce: (?<nonce>[a-zA-Z0-9]{8,96})`,
  String.raw`Issued At: (?<issuedAt>[^\s]+)(?:\nExpiration Time: (?<expirationTime>[^\s]+))?(?:\nNot Before: (?<notBefore>[^\s]+))?(?:\nRequest ID: [^\s]*)?(?:\nResources:(?:\n- [^\s]+){0,20})?$`,
];
const WHOLE = new RegExp(LINES.join("\n"));
/** Maximum time by which the clocks of people's machines may run ahead. */
const CLOCK_SKEW_MS = 60_000;

/** RFC 3339, as EIP-4361 requires; `Date` checks the range of each number. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

const timeOf = (text: string): Date => new Date(TIME.test(text) ? text : Number.NaN);

const refuse = (message: string): DomainError => new DomainError("invalid_signature", message);

/**
 * Parses an EIP-4361 message and checks everything except nonce and signature.
 * @throws DomainError `invalid_signature` when it is not such a message, or is for another site,
 * chain or time
 */
export const readSignInMessage = (
  message: string,
  expected: SignInExpectations,
): SignInMessage => {
  const fields = WHOLE.exec(message)?.groups;
  const { address, chainId, nonce, issuedAt } = fields ?? {};
  if (!fields || !address || !isAddress(address) || !chainId || !nonce || !issuedAt)
    throw refuse("The message is not a sign-in message as EIP-4361 describes it.");
  checkPlace(fields, expected.publicUrl);
  if (!expected.chainIds.includes(Number(chainId)))
    throw refuse(`The message names chain ${chainId}, which is not used here.`);
  const { expirationTime, notBefore } = fields;
  const times = {
    issuedAt: timeOf(issuedAt),
    ...(expirationTime === undefined ? {} : { expirationTime: timeOf(expirationTime) }),
    ...(notBefore === undefined ? {} : { notBefore: timeOf(notBefore) }),
  };
  checkTimes(times, expected.now);
  return { address: getAddress(address), chainId: Number(chainId), nonce };
};

const checkPlace = (
  fields: Readonly<Record<string, string | undefined>>,
  publicUrl: string,
): void => {
  const { host, origin, protocol } = new URL(publicUrl);
  if (fields.domain !== host) throw refuse(`The message was not made for ${host}.`);
  if (fields.scheme !== undefined && `${fields.scheme}:` !== protocol)
    throw refuse(`The message was not made for ${origin}.`);
  if (parseUrl(fields.uri ?? "")?.origin !== origin)
    throw refuse(`The message's URI is not one of ${origin}.`);
};

const checkTimes = (
  fields: { issuedAt: Date; expirationTime?: Date; notBefore?: Date },
  now: Date,
): void => {
  const times = [fields.issuedAt, fields.expirationTime, fields.notBefore];
  if (times.some((time) => time !== undefined && Number.isNaN(time.getTime())))
    throw refuse("The message has a time that is not one of RFC 3339.");
  if (fields.expirationTime !== undefined && fields.expirationTime <= now)
    throw refuse("The message has expired.");
  const latestMs = now.getTime() + CLOCK_SKEW_MS;
  if (fields.issuedAt.getTime() > latestMs || (fields.notBefore?.getTime() ?? 0) > latestMs)
    throw refuse("The message is not valid yet. Check the clock of your machine.");
};
