import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { RESERVES_QUERIES } from "@/app/_data/queries";
import { Reserves } from "@/components/features/reserves/reserves";

export const metadata: Metadata = { title: "Reserves" };

const Page = (): ReactNode => (
  <Prefetched queries={RESERVES_QUERIES}>
    <Reserves />
  </Prefetched>
);

export default Page;
