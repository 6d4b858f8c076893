import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { Swap } from "@/components/features/swap/swap";
import { balancesQuery } from "@/components/features/balances/use-balances";
import { reservesQuery } from "@/components/features/reserves/use-reserves";
import { tokensQuery } from "@/components/features/swap/tokens";
import { walletsQuery } from "@/components/features/wallets/use-wallets";

export const metadata: Metadata = { title: "Swap" };

const Page = (): ReactNode => (
  <Prefetched queries={[walletsQuery, tokensQuery, balancesQuery, reservesQuery]}>
    <Swap />
  </Prefetched>
);

export default Page;
