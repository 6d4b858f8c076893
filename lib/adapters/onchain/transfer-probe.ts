import { erc20Abi } from "viem";
import { encodeCall } from "@/lib/chains/encode-call";
import { probe, type ProbeResult } from "@/lib/chains/probe";
import type { EvmAddress, RouteSource } from "@/lib/ports/routing";
import { askChain, type OnchainDeps } from "./chain-access";

const amountOf = (result: ProbeResult | undefined): bigint | null =>
  result?.success === true && result.returnData !== "0x" ? BigInt(result.returnData) : null;

/**
 * Simulates a plain transfer on the chain's latest state in one unsigned `eth_call`, and returns the amount that the
 * recipient would get. A token may keep a part of every transfer without showing it in its return value or event, so
 * the recipient's balance is compared. Null when it cannot be determined: the wallet does not hold the amount yet, the
 * token refuses, or the chain does not answer.
 */
export const createTransferProbe =
  (deps: OnchainDeps) =>
  async (source: RouteSource, recipient: EvmAddress, signal: AbortSignal): Promise<bigint | null> => {
    const { owner, token, amountBase } = source;
    const { address } = token;
    if (address === "native" || owner.toLowerCase() === recipient.toLowerCase()) return null;
    const balance = {
      to: address,
      data: encodeCall({ abi: erc20Abi, functionName: "balanceOf", args: [recipient] }),
    };
    const data = encodeCall({ abi: erc20Abi, functionName: "transfer", args: [recipient, amountBase] });
    const ask = askChain(deps, token.chainId, signal, (client) =>
      probe(client, owner, [balance, { to: address, data }, balance]),
    );
    const results = await ask.catch(() => []);
    signal.throwIfAborted();
    const [before, after] = [amountOf(results[0]), amountOf(results[2])];
    if (results[1]?.success !== true || before === null || after === null || after <= before) return null;
    return after - before;
  };
