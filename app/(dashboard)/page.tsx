import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Overview } from "@/components/features/overview/overview";

export const metadata: Metadata = { title: "Overview" };

const OverviewPage = (): ReactNode => <Overview />;

export default OverviewPage;
