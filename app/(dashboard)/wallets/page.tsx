import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { Wallets } from "@/components/features/wallets/wallets";
import { balancesQuery } from "@/components/features/balances/use-balances";
import { walletsQuery } from "@/components/features/wallets/use-wallets";

export const metadata: Metadata = { title: "Wallets" };

const Page = (): ReactNode => (
  <Prefetched queries={[walletsQuery, balancesQuery]}>
    <Wallets />
  </Prefetched>
);

export default Page;
