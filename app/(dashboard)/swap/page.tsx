import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { SWAP_QUERIES } from "@/app/_data/queries";
import { Swap } from "@/components/features/swap/swap";

export const metadata: Metadata = { title: "Swap" };

const Page = (): ReactNode => (
  <Prefetched queries={SWAP_QUERIES}>
    <Swap />
  </Prefetched>
);

export default Page;
