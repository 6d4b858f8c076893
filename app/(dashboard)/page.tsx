import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { OVERVIEW_QUERIES } from "@/app/_data/queries";
import { Overview } from "@/components/features/overview/overview";

export const metadata: Metadata = { title: "Overview" };

const OverviewPage = (): ReactNode => (
  <Prefetched queries={OVERVIEW_QUERIES}>
    <Overview />
  </Prefetched>
);

export default OverviewPage;
