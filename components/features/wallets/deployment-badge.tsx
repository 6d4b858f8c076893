"use client";

import { CircleCheck, CircleDashed, CircleHelp } from "lucide-react";
import type { ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { Badge } from "@/components/ui/badge";
import type { WalletRecord } from "./use-wallets";

const VIEWS = [
  { deployed: true, icon: CircleCheck, tone: "success", words: "Deployed on" },
  { deployed: false, icon: CircleDashed, tone: "neutral", words: "Not yet deployed on" },
  { deployed: null, icon: CircleHelp, tone: "warning", words: "No answer of" },
] as const;

/** On which chains the contract of a smart account is there already; a badge for each state. */
export const DeploymentBadges = ({ chains }: Pick<WalletRecord, "chains">): ReactNode => {
  const { chains: known } = usePublicConfig();
  const nameOf = (chainId: number): string =>
    known.find((chain) => chain.id === chainId)?.name ?? `Chain ${String(chainId)}`;
  return (
    <span className="flex flex-col items-end gap-1">
      {VIEWS.map(({ deployed, icon, tone, words }) => {
        const names = chains.filter((chain) => chain.deployed === deployed).map((chain) => nameOf(chain.chainId));
        return names.length === 0 ? null : (
          <Badge key={words} icon={icon} tone={tone} title={names.join(", ")}>
            {words} {names.join(", ")}
          </Badge>
        );
      })}
      {chains.some((chain) => chain.deployed === false) ? (
        <span className="text-sm text-fg-3">
          Its first operation on a chain deploys it there; it can receive before.
        </span>
      ) : null}
    </span>
  );
};
