import { encodeFunctionData, erc20Abi, type Hex } from "viem";
import { z } from "zod";
import type { Call, EvmAddress } from "@/lib/ports/routing";
import { storedAddress, storedBase, storedHex } from "@/lib/ports/routing-json";
import { permit2Call, type Permit2Permit } from "./permit2";
import { permitCall, type Eip2612Permit } from "./permits";

/** The permit that a plain wallet signs so that the treasury may take its tokens. */
export type Permit = Eip2612Permit | Permit2Permit;

/** A permit with its owner's signature over it. */
export type SignedPermit = Permit & { readonly signature: Hex };

const terms = {
  token: storedAddress,
  owner: storedAddress,
  spender: storedAddress,
  value: storedBase,
  nonce: storedBase,
  deadline: storedBase,
};
// Permits stored before there was a second standard do not name theirs.
const eip2612 = z.object({ standard: z.literal("eip2612").default("eip2612"), ...terms });
const permit2 = z.object({ standard: z.literal("permit2"), permit2: storedAddress, ...terms });
const signature = { signature: storedHex };

/** JSON form of a permit before it is signed. */
export const storedPermit: z.ZodType<Permit> = z.union([permit2, eip2612]);
/** JSON form of a signed permit. */
export const storedSignedPermit: z.ZodType<SignedPermit> = z.union([
  permit2.extend(signature),
  eip2612.extend(signature),
]);

/** The purpose for which a permit's spender takes the tokens. */
export interface PermittedLeg {
  /** Calls to make once the spender has the tokens. */
  readonly calls: readonly Call[];
  /** Recipient of a plain transfer, which gets the tokens directly; `calls` are not made then. */
  readonly transferTo: EvmAddress | null;
}

const transferCall = ({ token, owner, value }: Permit, to: EvmAddress): Call => ({
  to: token,
  value: 0n,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [owner, to, value] }),
});

const takingCalls = (permit: SignedPermit, to: EvmAddress, isAllowed: boolean): readonly Call[] => {
  switch (permit.standard) {
    case "eip2612":
      return isAllowed ? [transferCall(permit, to)] : [permitCall(permit), transferCall(permit, to)];
    case "permit2":
      return [permit2Call(permit, to)];
  }
};

/**
 * The calls of a permit's spender, as one atomic batch.
 * @param leg `isAllowed`: the allowance of an EIP-2612 permit is set already, so the permit must not be submitted
 */
export const permittedCalls = (
  permit: SignedPermit,
  leg: PermittedLeg & { readonly isAllowed: boolean },
): readonly Call[] => {
  const taking = takingCalls(permit, leg.transferTo ?? permit.spender, leg.isAllowed);
  return leg.transferTo === null ? [...taking, ...leg.calls] : taking;
};
