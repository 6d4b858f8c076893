"use client";

import { parseAsString, useQueryStates } from "nuqs";
import type { PolicySubject } from "../subject";
import type { PolicySetup } from "../use-policy-setup";
import type { MovementValues } from "./movement";

const FIELDS = {
  wallet: parseAsString,
  chain: parseAsString,
  token: parseAsString,
  amount: parseAsString,
  to: parseAsString,
  key: parseAsString,
};

interface Movement {
  readonly values: MovementValues;
  readonly change: (part: Partial<MovementValues>) => void;
}

/** The tried movement, kept in the URL. It begins with what the policy is about, and with the first chain and token. */
export const useMovement = ({ wallets, keys, chains, tokens }: PolicySetup, subject: PolicySubject): Movement => {
  const [stored, store] = useQueryStates(FIELDS);
  const treasury = wallets.find(({ kind }) => kind === "treasury") ?? wallets[0];
  const key = stored.key ?? (subject.scope === "key" ? (subject.subjectId ?? "") : "");
  const chain = stored.chain ?? String(chains[0]?.id ?? "");
  const there = tokens.filter(({ chainId }) => String(chainId) === chain);
  const first = there.find(({ symbol }) => symbol === "USDC") ?? there[0];
  const token = there.some(({ address }) => address === stored.token) ? stored.token : first?.address;
  return {
    values: {
      wallet: stored.wallet ?? (subject.scope === "wallet" ? subject.subjectId : treasury?.id) ?? "",
      chain,
      token: token ?? "",
      amount: stored.amount ?? "",
      to: stored.to ?? "",
      key: keys.some(({ id }) => id === key) ? key : "",
    },
    change: (part) => void store(part),
  };
};
