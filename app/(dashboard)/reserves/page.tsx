import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { Reserves } from "@/components/features/reserves/reserves";
import { reservesQuery } from "@/components/features/reserves/use-reserves";

export const metadata: Metadata = { title: "Reserves" };

const Page = (): ReactNode => (
  <Prefetched queries={[reservesQuery]}>
    <Reserves />
  </Prefetched>
);

export default Page;
