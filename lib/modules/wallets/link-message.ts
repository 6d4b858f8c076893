import { createSiweMessage, parseSiweMessage } from "viem/siwe";
import type { EvmAddress } from "@/lib/ports/routing";

interface LinkMessage {
  readonly address: EvmAddress;
  readonly chainId: number;
  /** Origin of the app as browsers see it. */
  readonly publicUrl: string;
  readonly nonce: string;
  readonly project: { readonly id: string; readonly name: string };
  /** Address with which the person signed in. */
  readonly person: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

const NAME_LENGTH_MAX = 60;

/** The characters that EIP-4361 allows in a statement (RFC 3986 reserved and unreserved, space). Some wallets refuse others. */
const legible = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9 ._~:/?#[\]@!$&'()*+,;=-]+/g, " ")
    .replace(/ {2,}/g, " ")
    .trim()
    .slice(0, NAME_LENGTH_MAX);

/** The EIP-4361 message whose signature links the wallet. It says to whose account, and that nothing is sent. */
export const linkMessage = ({ address, chainId, nonce, project, person, ...rest }: LinkMessage): string => {
  const { host: domain, origin: uri } = new URL(rest.publicUrl);
  const name = legible(project.name);
  const shown = name === "" ? project.id : name;
  const statement = `Link this wallet to the project ${shown} in the Causeway account of ${person}. This makes no transaction and costs nothing.`;
  const times = { issuedAt: rest.issuedAt, expirationTime: rest.expiresAt };
  return createSiweMessage({ address, chainId, domain, nonce, statement, uri, version: "1", ...times });
};

/** The purpose of a message that this service created. */
export const readLinkMessage = (message: string): { chainId: number; domain: string } => {
  const { chainId, domain } = parseSiweMessage(message);
  if (chainId === undefined || domain === undefined) throw new Error("A stored message is not one of EIP-4361.");
  return { chainId, domain };
};
