import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ReportingSettings } from "@/components/features/profile/sections";

export const metadata: Metadata = { title: "Reporting" };

const Page = (): ReactNode => <ReportingSettings />;

export default Page;
