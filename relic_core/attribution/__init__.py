"""Attribution: which stretch of which work a passage of unknown source quotes; ranked, measured, and learnt from."""
