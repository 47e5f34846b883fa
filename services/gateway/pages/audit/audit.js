// @ts-check
// The page of an audit: what was checked of a game, a move explained, doubts and their answers, and the file.
import { render } from "../vendor/lit-html/lit-html.js";
import { root, showFailure } from "../shared/frame.js";
import { begin, page } from "./audit_state.js";
import { auditPage } from "./audit_view.js";

begin(() => render(auditPage(page), root)).catch((error) => showFailure("This game can't be audited", error));
