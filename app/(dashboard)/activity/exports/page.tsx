import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { Exports } from "@/components/features/exports/exports";
import { exportPages } from "@/components/features/exports/use-exports";

export const metadata: Metadata = { title: "Exports" };

const Page = (): ReactNode => (
  <Prefetched queries={[exportPages]}>
    <Exports />
  </Prefetched>
);

export default Page;
