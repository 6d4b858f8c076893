import type { Metadata } from "next";
import type { ReactNode } from "react";
import { PoliciesPage } from "@/components/features/policies/policies-page";

export const metadata: Metadata = { title: "Policies" };

const Page = (): ReactNode => <PoliciesPage />;

export default Page;
